// What a browser runs so that an open page updates itself: when the server says that something changed, it asks for the
// same page again and puts its content in place. Without it, everything works but this.

/**
 * The script, as it is served. It keeps what the reader is doing: the focus, what is unfolded, how far a table is
 * scrolled. While text is selected or a field is being filled in, it waits. A hidden tab asks for nothing.
 */
export const LIVE_SCRIPT = `'use strict';
(() => {
  const LEAST_MS = 2000;
  const SAY_MS = 60000;
  const AGAIN_MS = 15000;
  const address = new URL('live', document.currentScript.src);
  const main = document.querySelector('main');
  const light = document.getElementById('live');
  const status = document.getElementById('updated');
  let events = null;
  let timer = null;
  let isAsking = false;
  let isToAskAgain = false;
  let isAway = false;
  let askedAt = 0;
  let saidAt = performance.now();

  const show = (isLive) => {
    light.hidden = false;
    light.classList.toggle('away', !isLive);
    light.textContent = isLive ? 'Updates itself' : 'No answer, trying again';
  };

  const isBusy = () => {
    const selection = document.getSelection();
    const at = document.activeElement;
    return (
      (selection !== null && !selection.isCollapsed && main.contains(selection.anchorNode)) ||
      (main.contains(at) && /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName))
    );
  };

  const later = (ms) => {
    if (timer === null) timer = setTimeout(() => { timer = null; update(); }, ms);
  };

  async function update() {
    if (document.hidden) return;
    // The answer that is on its way may be of before the change.
    if (isAsking) {
      isToAskAgain = true;
      return;
    }
    const wait = askedAt + LEAST_MS - performance.now();
    if (wait > 0 || isBusy()) return later(Math.max(wait, LEAST_MS));
    isAsking = true;
    isToAskAgain = false;
    askedAt = performance.now();
    try {
      const answer = await fetch(location.href, { cache: 'no-store' });
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (isBusy()) return later(LEAST_MS);
      if (next.querySelector('main') !== null) put(next);
      show(true);
      if (answer.status === 503) later(AGAIN_MS / 3);
    } catch {
      show(false);
      later(AGAIN_MS);
    } finally {
      isAsking = false;
      if (isToAskAgain) later(LEAST_MS);
    }
  }

  function put(next) {
    const fresh = next.querySelector('main');
    if (fresh.innerHTML !== main.innerHTML) {
      const unfold = keep('details', (one) => one.open, (one, open) => { one.open = open; });
      const scroll = keep('.scroll', (one) => one.scrollLeft, (one, left) => { one.scrollLeft = left; });
      const focus = whereIsFocus();
      main.replaceChildren(...fresh.childNodes);
      unfold();
      scroll();
      focus();
      say();
    }
    document.title = next.title;
    const footer = next.querySelector('body > footer');
    if (footer !== null) document.querySelector('body > footer').replaceChildren(...footer.childNodes);
  }

  function nameOf(one) {
    if (one.id !== '') return '#' + one.id;
    const part = one.closest('[id]');
    const all = [...part.querySelectorAll(one.tagName)];
    return part.id + ' ' + one.tagName + ' ' + all.indexOf(one);
  }

  function keep(selector, read, write) {
    const kept = new Map([...main.querySelectorAll(selector)].map((one) => [nameOf(one), read(one)]));
    return () => {
      for (const one of main.querySelectorAll(selector)) {
        if (kept.has(nameOf(one))) write(one, kept.get(nameOf(one)));
      }
    };
  }

  function whereIsFocus() {
    const at = document.activeElement;
    if (at === main || !main.contains(at)) return () => {};
    const name = nameOf(at);
    const tag = at.tagName;
    return () => {
      const again = [...main.querySelectorAll(tag)].find((one) => nameOf(one) === name);
      (again ?? main).focus({ preventScroll: true });
    };
  }

  function say() {
    if (performance.now() - saidAt < SAY_MS) return;
    saidAt = performance.now();
    status.textContent = 'The page was updated.';
    setTimeout(() => { status.textContent = ''; }, 5000);
  }

  function open() {
    if (events !== null || document.hidden) return;
    events = new EventSource(address);
    events.addEventListener('open', () => {
      show(true);
      // Nobody said what changed meanwhile.
      if (isAway) update();
      isAway = false;
    });
    events.addEventListener('changed', update);
    events.addEventListener('error', () => {
      show(false);
      isAway = true;
      if (events === null || events.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(open, AGAIN_MS);
      later(AGAIN_MS);
    });
  }

  function close() {
    events?.close();
    events = null;
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return close();
    open();
    update();
  });
  window.addEventListener('pagehide', close);
  open();
  if (document.querySelector('main > [data-again]') !== null) later(LEAST_MS);
})();
`;
