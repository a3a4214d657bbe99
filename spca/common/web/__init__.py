"""Pages for a browser: the HTTP server, access control, and the common parts of pages."""
