"""`python -m shardc`"""

from shardc.cli import main

main()
