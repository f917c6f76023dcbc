/** The element of this id, which the page always has. */
export const byId = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

type Attributes = Record<string, string | number | undefined>;

function fill<E extends Element>(element: E, of: Attributes, inner: readonly (Node | string)[]): E {
  for (const [name, value] of Object.entries(of)) if (value !== undefined) element.setAttribute(name, String(value));
  element.append(...inner);
  return element;
}

/** An element with its text or children; text is never read as HTML. */
export const h = <K extends keyof HTMLElementTagNameMap>(tag: K, of: Attributes = {}, ...inner: (Node | string)[]) =>
  fill(document.createElement(tag), of, inner);

/** The same of SVG. */
export const svg = <K extends keyof SVGElementTagNameMap>(tag: K, of: Attributes = {}, ...inner: (Node | string)[]) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), of, inner);

/** Sets the text of an element only if it differs, so that a screen reader says it once. */
export const text = (id: string, words: string) => {
  const element = byId(id);
  if (element.textContent !== words) element.textContent = words;
};

/** Replaces what an element contains, unless it is the same already. */
export function put(parent: Element, ...inner: Node[]): void {
  const fresh = h('div', {}, ...inner);
  if (parent.innerHTML !== fresh.innerHTML) parent.replaceChildren(...fresh.childNodes);
}

/** Shows the items as children, each under its key: equal items stay, with their focus, and the others are redrawn. */
export function show<T>(
  parent: HTMLElement,
  items: readonly T[],
  keyOf: (item: T) => string,
  draw: (item: T) => HTMLElement,
): void {
  const before = new Map([...parent.children].map((child) => [(child as HTMLElement).dataset.key ?? '', child]));
  items.forEach((item, index) => {
    const key = keyOf(item);
    const old = before.get(key) as HTMLElement | undefined;
    before.delete(key);
    const fresh = draw(item);
    fresh.dataset.key = key;
    const isSame = old?.outerHTML === fresh.outerHTML || (old !== undefined && takeOver(old, fresh));
    const child = isSame && old ? old : fresh;
    if (old && child !== old) old.replaceWith(child);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  for (const gone of before.values()) gone.remove();
}

/** Puts what is new into the old element, if the focus is within it; true if it did. */
function takeOver(old: HTMLElement, fresh: HTMLElement): boolean {
  if (!old.contains(document.activeElement)) return false;
  const parts = [...old.querySelectorAll('td, span, progress, li')];
  const others = [...fresh.querySelectorAll('td, span, progress, li')];
  if (parts.length !== others.length) return false;
  parts.forEach((part, index) => {
    const other = others[index];
    if (other && !part.contains(document.activeElement) && part.outerHTML !== other.outerHTML) part.replaceWith(other);
  });
  return true;
}
