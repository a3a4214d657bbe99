"""What the sandbox is made of on this machine: each layer is attacked."""
