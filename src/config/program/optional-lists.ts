// The lists that an API need not have, as the variable names them.

import { OPTIONAL_LISTS, type OptionalList } from '../../contract/optional-lists.ts';
import { reading } from '../reading.ts';

/** `auto`: the API is asked whether it has the list. */
export type ListSettings = Readonly<Record<OptionalList, 'auto' | 'on' | 'off'>>;

export const AUTO = settingsOf(() => 'auto');

export const listSettings = reading((text, refuse): ListSettings => {
  if (text === 'auto') return AUTO;
  const named = text === 'none' ? [] : text.split(',').map((name) => name.trim());
  if (!named.every((name) => OPTIONAL_LISTS.some((list) => list === name))) {
    return refuse(`must be auto, none, or some of ${OPTIONAL_LISTS.join(', ')}`);
  }
  return settingsOf((list) => (named.includes(list) ? 'on' : 'off'));
});

function settingsOf(settingOf: (list: OptionalList) => 'auto' | 'on' | 'off'): ListSettings {
  return Object.fromEntries(OPTIONAL_LISTS.map((list) => [list, settingOf(list)])) as ListSettings;
}
