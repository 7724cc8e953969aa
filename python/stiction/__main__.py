"""`python -m stiction` is the command `stiction`."""

from .cli import main

if __name__ == "__main__":
    main()
