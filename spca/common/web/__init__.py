"""Pages for a browser: who may ask a server of ours, the server itself, policy and colours of our pages."""
