"""The browser viewer of replays: HTML, CSS and JavaScript sources, and `page.py` that joins them into one file."""
