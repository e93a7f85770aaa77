// The beginnings of what the payment ledger says in its own words. Whoever writes them and whoever leaves out what may
// quote the program use the same ones: a text that is not recognised here is left out or kept by mistake.

/** Begins the note of a commission that the mirror could not hold; a quotation follows. */
export const NOT_TAKEN_OVER = 'the mirror could not take over';

/** Begins the outcome of a commission that is voided. */
export const VOIDED = 'the commission is voided';

/** Begins the outcome of a change that the program accepted and did not make. */
export const ANSWERED_OTHERWISE = 'the program accepted the change, but answered';
