"""What a lab refuses to compute, so that a message can stand at the field that is to blame."""


class RefusedInputError(ValueError):
    """An input that can't be used; ``field`` names it, the message says what, why and what to do."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
