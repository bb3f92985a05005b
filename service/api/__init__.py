"""The operations of the API, one module for each tag of openapi.yaml, and its description."""
