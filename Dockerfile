# One image for every part. Without a command it runs the whole service; compose.yaml runs each part in a container of its own.
# A tag and the digest of its index: renew both together (docker buildx imagetools inspect python:3.12-slim).
FROM python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea AS wheel
WORKDIR /src
COPY requirements-release.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements-release.txt
COPY . .
RUN python -m hatchling build -t wheel -d /wheel

FROM python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 WARLEDGER_DATA=/data
COPY requirements.txt requirements-archive.txt /wheel/
RUN pip install --no-cache-dir --require-hashes -r /wheel/requirements.txt && \
    pip install --no-cache-dir --no-deps --require-hashes -r /wheel/requirements-archive.txt
COPY --from=wheel /wheel /wheel
RUN pip install --no-cache-dir --no-deps --no-index /wheel/*.whl

RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin warledger && \
    install -d -o warledger -m 700 /data /data/archive /data/journal /signing && install -d -o warledger -m 755 /keys
USER warledger
WORKDIR /data
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["warledger", "serve", "--host", "0.0.0.0", "--verbose"]
