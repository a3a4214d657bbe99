"""The page of an evaluation: its template, style and script, and the module that renders them."""
