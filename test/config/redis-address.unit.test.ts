// Addresses of a Redis, and of a proxy: which are read how, and what is said of the others.

import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { readRedisAddress } from '../../src/config/process/redis-address.ts';

const PLAIN = { username: null, password: null, database: 0, tls: null };
const NO_FILES = { ca: null, cert: null, key: null };

describe('the address of a Redis', () => {
  test.each([
    ['redis://one', { host: 'one', port: 6379, name: 'one:6379' }],
    ['redis://one:7000/15', { host: 'one', port: 7000, name: 'one:7000', database: 15 }],
    ['redis://[::1]:7000', { host: '::1', port: 7000, name: '[::1]:7000' }],
    ['rediss://one', { host: 'one', port: 6379, name: 'one:6379', tls: NO_FILES }],
    [
      'rediss://u:p%40%2F@one/1?ca=/c++/b.pem',
      {
        host: 'one',
        port: 6379,
        name: 'one:6379',
        username: 'u',
        password: 'p@/',
        database: 1,
        tls: { ...NO_FILES, ca: '/c++/b.pem' },
      },
    ],
  ])('%s is read', (text, address) => {
    expect(readRedisAddress(text)).toEqual({ ...PLAIN, ...address });
  });

  test.each([
    'mysql://one',
    'redis://one/two',
    'redis://one:70000',
    'redis://secret@one',
    'redis://:secret%@one',
    'redis://one?ca=/a',
    'rediss://one?cert=/a',
    'rediss://one?rejectUnauthorized=false',
  ])('%s is refused, without its password', (text) => {
    expect(() => readConfig({ REDIS_URL: text })).toThrow(
      'REDIS_URL must look like redis://:password@host:6379/0',
    );
    expect(() => readConfig({ REDIS_URL: text })).not.toThrow('secret');
  });
});

describe('the address of a proxy', () => {
  const read = (environment: Record<string, string>) => readConfig(environment).process.proxy;

  test('is that for HTTPS before that for HTTP, and small letters win', () => {
    expect(read({})).toBe(null);
    expect(read({ HTTP_PROXY: 'http://a:1' })).toEqual({ url: 'http://a:1', exceptions: '' });
    expect(read({ HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'b:2', NO_PROXY: 'x' })).toEqual({
      url: 'http://b:2',
      exceptions: 'x',
    });
    expect(read({ HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2', no_proxy: 'y' })).toEqual({
      url: 'http://b:2',
      exceptions: 'y',
    });
  });

  test.each(['socks5://a:1', 'http://', 'a b'])('%s is refused', (url) => {
    expect(() => read({ HTTPS_PROXY: url })).toThrow(
      'HTTPS_PROXY must look like http://proxy.example.com:3128',
    );
  });
});
