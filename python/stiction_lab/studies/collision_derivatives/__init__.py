"""The study of derivatives of collision detection by randomized smoothing."""
