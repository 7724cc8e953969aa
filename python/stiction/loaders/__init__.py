"""Loaders that need packages of their own; see stiction.load_mjcf."""
