"""`python -m bench.loading`."""

from bench.loading.run import main

raise SystemExit(main())
