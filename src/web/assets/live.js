// The script by which an open view updates itself. Every two seconds it asks for the mark of changes. If the mark is
// another one, it fetches the view and replaces the content. The view works without it.
//
// It preserves the focus, unfolded details and scroll positions of tables. While text is selected or a field is being
// filled in, it waits. A hidden tab sends no requests.

(() => {
  const CHECK_MS = 2000;
  // While nothing answers, or the view cannot be shown.
  const AGAIN_MS = 5000;
  // Seldom enough that a password which is no longer the right one is not tried too often.
  const REFUSED_MS = 15000;
  // Ages grow even if no figure changes.
  const OLD_MS = 30000;
  const PATIENCE_MS = 30000;
  const SAY_MS = 60000;
  const address = new URL('live', document.currentScript.src);
  const main = document.querySelector('main');
  const light = document.getElementById('live');
  const status = document.getElementById('updated');
  let timer = null;
  let isChecking = false;
  let mark = null;
  let askedAt = performance.now();
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

  const isWithoutContent = () => document.querySelector('main > [data-again]') !== null;

  const ask = (what) => fetch(what, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });

  async function check() {
    clearTimeout(timer);
    if (document.hidden || isChecking) return;
    isChecking = true;
    let waitMs = CHECK_MS;
    try {
      const answer = await ask(address);
      const found = answer.ok ? await answer.text() : String(answer.status);
      mark ??= found;
      const isOld = performance.now() - askedAt >= OLD_MS;
      // The mark is of before the view: a change meanwhile is another mark at the next check.
      if ((found !== mark || isOld || isWithoutContent()) && (await update())) mark = found;
      if (isWithoutContent()) waitMs = AGAIN_MS;
      if (!answer.ok) waitMs = REFUSED_MS;
      show(answer.ok);
    } catch {
      waitMs = AGAIN_MS;
      show(false);
    }
    isChecking = false;
    timer = setTimeout(check, waitMs);
  }

  async function update() {
    if (isBusy()) return false;
    const answer = await ask(location.href);
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (isBusy()) return false;
    askedAt = performance.now();
    if (next.querySelector('main') !== null) put(next);
    return true;
  }

  function put(next) {
    const fresh = next.querySelector('main');
    if (fresh.innerHTML !== main.innerHTML) {
      const unfold = keep(
        'details',
        (one) => one.open,
        (one, open) => {
          one.open = open;
        },
      );
      const scroll = keep(
        '.scroll',
        (one) => one.scrollLeft,
        (one, left) => {
          one.scrollLeft = left;
        },
      );
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
    if (one.id !== '') return `#${one.id}`;
    const part = one.closest('[id]');
    const all = [...part.querySelectorAll(one.tagName)];
    return `${part.id} ${one.tagName} ${all.indexOf(one)}`;
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
    status.textContent = 'The view was updated.';
    setTimeout(() => {
      status.textContent = '';
    }, 5000);
  }

  document.addEventListener('visibilitychange', check);
  check();
})();
