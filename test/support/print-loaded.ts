// Prints on stderr which modules a process loaded, one a line, when it ends. For Node's --import.

import { registerHooks } from 'node:module';

const urls = new Set<string>();

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    urls.add(resolved.url);
    return resolved;
  },
});

process.on('exit', () => {
  process.stderr.write([...urls].map((url) => `loaded ${url}\n`).join(''));
});
