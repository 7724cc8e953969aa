"""Pages of tables, figures and sentences: a result as one HTML file."""
