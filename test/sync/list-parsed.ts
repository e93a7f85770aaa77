// The lists of a program whose records a test is going to change: parsed, since a record that was read by its form holds
// what it was read as.

import type { ApiClient } from '../../src/api/client.ts';

/** Returns the page with every record parsed, as JSON.parse reads it. */
export function listParsed(api: ApiClient): ApiClient['list'] {
  return (resource, query, { recordReader: _, ...options } = {}) => api.list(resource, query, options);
}
