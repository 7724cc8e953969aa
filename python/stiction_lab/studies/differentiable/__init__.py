"""Derivatives of steps: are they right, what do they cost, which of them leads a search to its end."""
