"""Attacks on each layer of the sandbox, which show whether the layer works on this machine."""
