"""The page of a report as one HTML file, with its template, styles and scripts."""
