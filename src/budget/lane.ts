// The two lanes of the budget.

/** `writer` goes first: money waits for no walk. */
export type Lane = 'reader' | 'writer';
