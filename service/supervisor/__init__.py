"""What starts, watches and stops the processes of `./run serve`."""
