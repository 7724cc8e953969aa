"""Benchmarks and studies of stiction: what measures it, beside what a user installs it for."""
