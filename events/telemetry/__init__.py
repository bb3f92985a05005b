"""What a running process reports: log lines and metrics."""
