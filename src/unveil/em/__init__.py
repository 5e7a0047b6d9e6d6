"""EM: learning from what is missing and what is hidden."""
