"""The archive: finished matches outside the store, each as one object that never changes (ADR 115)."""
