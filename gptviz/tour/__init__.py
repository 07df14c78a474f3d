"""The guided tour and its questions: what they say, without a window. Nothing here imports torch or Qt at once."""
