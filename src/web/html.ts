// HTML that is safe by the way it is made: a template escapes everything but what another template made.

/** Made by html`…`, and of the style. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** In a template, text is escaped, a list is joined, null and false are empty. */
export type Part = Html | string | number | null | false | readonly Part[];

/** Returns the markup, with every text in it escaped: for between tags, and for attributes in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(render)));
}

function render(part: Part): string {
  if (part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
