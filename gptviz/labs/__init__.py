"""The experiments of a chapter on building GPT: computation only, one file a lab."""
