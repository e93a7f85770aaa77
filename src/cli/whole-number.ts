// Reads numbers from the command line.

import { InvalidArgumentError } from 'commander';

/** Gives back a parser of whole numbers within the bounds, which throws commander's InvalidArgumentError. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}
