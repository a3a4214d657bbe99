"""The processes around generated code: zygote, worker, and how the host talks to them."""
