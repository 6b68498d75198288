// A table of the operator's page. Each draw updates the existing rows, so that the focused element, and the one under
// the pointer, stay where they are.

/**
 * @template Item
 * @typedef {object} Column
 * @property {string} name
 * @property {((item: Item) => string | Node)} [cell]
 * @property {boolean} [isNumber]
 * @property {(item: Item) => void} [action] What the button of each row does; the column's name is on the button.
 * @property {(item: Item) => string} [nameOf] For screen readers: what the button concerns.
 */

/** @template Item */
export class Table {
  #columns;
  #keyOf;
  #rowName;
  #body = document.createElement("tbody");
  #table = document.createElement("table");
  #remark = document.createElement("p");
  /** @type {Map<string, HTMLTableRowElement>} */
  #rows = new Map();
  /** @type {WeakMap<HTMLTableRowElement, Item>} The items as they were drawn last. */
  #items = new WeakMap();

  /**
   * @param {object} options
   * @param {HTMLElement} options.host
   * @param {string} options.name
   * @param {string} options.rowName The attribute `data-…` with the row's key.
   * @param {Column<Item>[]} options.columns
   * @param {(item: Item) => string} options.keyOf
   */
  constructor({ host, name, rowName, columns, keyOf }) {
    this.#columns = columns;
    this.#keyOf = keyOf;
    this.#rowName = rowName;
    const head = this.#table.createTHead().insertRow();
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      if (column.isNumber) cell.className = "is-number";
      const text = document.createElement("span");
      text.textContent = column.name;
      if (column.action) text.className = "visually-hidden";
      cell.append(text);
      head.append(cell);
    }
    this.#table.setAttribute("aria-label", name);
    this.#table.append(this.#body);
    this.#remark.className = "admin-remark";
    host.append(this.#table, this.#remark);
  }

  /**
   * @param {Item[]} items
   * @param {string} remark Shown below the table; empty for none.
   */
  draw(items, remark) {
    const keys = new Set(items.map(this.#keyOf));
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
    items.forEach((item, index) => {
      const key = this.#keyOf(item);
      let row = this.#rows.get(key);
      if (!row) {
        row = this.#row(key);
        this.#rows.set(key, row);
      }
      this.#fill(row, item);
      const place = this.#body.rows[index];
      if (place !== row) this.#body.insertBefore(row, place ?? null);
    });
    this.#table.hidden = items.length === 0;
    this.#remark.textContent = remark;
    this.#remark.hidden = remark === "";
  }

  /** @param {string} key */
  #row(key) {
    const row = document.createElement("tr");
    row.dataset[this.#rowName] = key;
    row.append(...this.#columns.map((column) => this.#cell(column, row)));
    return row;
  }

  /** @param {Column<Item>} column @param {HTMLTableRowElement} row */
  #cell({ name, isNumber, action }, row) {
    const cell = document.createElement("td");
    if (isNumber) cell.className = "is-number";
    if (!action) {
      // On a phone each row is a card, and each value has a label.
      cell.dataset.label = name;
      return cell;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = name;
    button.addEventListener("click", () => {
      const item = this.#items.get(row);
      if (item) action(item);
    });
    cell.className = "is-action";
    cell.append(button);
    return cell;
  }

  /** @param {HTMLTableRowElement} row @param {Item} item */
  #fill(row, item) {
    this.#items.set(row, item);
    this.#columns.forEach(({ name, cell, nameOf }, index) => {
      const place = row.cells[index];
      if (nameOf) place?.firstElementChild?.setAttribute("aria-label", `${name} ${nameOf(item)}`);
      if (!place || !cell) return;
      const content = cell(item);
      const text = typeof content === "string" ? content : content.textContent;
      if (place.textContent !== text) place.replaceChildren(content);
    });
  }
}
