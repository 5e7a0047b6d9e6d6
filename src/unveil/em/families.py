"""EM by families (placeholder)."""
