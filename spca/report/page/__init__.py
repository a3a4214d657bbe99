"""Values as one HTML file; its template, styles and scripts lie here too."""
