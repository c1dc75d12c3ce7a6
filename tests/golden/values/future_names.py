from __future__ import absolute_import, division, generators, nested_scopes, print_function, unicode_literals, with_statement

import numpy as np

print(np.delete(np.arange(9), np.arange(2, 5)).tolist(), np.delete(np.arange(6).reshape(2, 3), 1, axis=1).tolist())
