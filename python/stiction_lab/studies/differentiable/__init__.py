"""Derivatives of steps: are they right, what do they cost, which leads a search to its end."""
