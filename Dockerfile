# One image for every part. Without a command it runs the whole service; compose.yaml runs each part in a container of its own.
# A tag and the digest of its index: renew both together (docker buildx imagetools inspect python:3.12-slim).
FROM python:3.12.14-slim-trixie@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/srv/warledger WARLEDGER_DATA=/data
WORKDIR /srv/warledger

COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

COPY games ./games
COPY web ./web
COPY table ./table
COPY players ./players
COPY record ./record
COPY evidence ./evidence
COPY events ./events
COPY service ./service
COPY workers ./workers
COPY tools ./tools
COPY verify ./verify
COPY openapi.yaml ./

RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin warledger && \
    install -d -o warledger -m 700 /data /data/journal /signing && install -d -o warledger -m 755 /keys
USER warledger
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["python", "-m", "service.supervisor.serve", "--host", "0.0.0.0", "--verbose"]
