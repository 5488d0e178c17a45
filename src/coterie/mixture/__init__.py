"""A population of users learned from their sums: points, Gaussians, and the evidence that chooses."""
