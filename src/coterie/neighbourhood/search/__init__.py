"""Sums over lenders by walking a ball tree."""
