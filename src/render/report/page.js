"use strict";
(function () {
  var form = document.getElementById("filter"), table = document.getElementById("rows");
  if (!form || !table) return;
  function at(id) { return document.getElementById(id); }
  var rows = Array.prototype.slice.call(table.tBodies[0].rows).map(function (row) {
    var from = row.getAttribute("data-from"), to = row.getAttribute("data-to");
    return {
      row: row, from: from === "" ? null : Number(from), to: to === "" ? null : Number(to), source: row.getAttribute("data-source"),
      mark: row.getAttribute("data-mark"), level: row.getAttribute("data-level"), text: null
    };
  });
  var start = Number(form.getAttribute("data-from")), length = Math.max(1, Number(form.getAttribute("data-length"))), steps = 1000;
  var text = at("f-text"), what = at("f-what"), source = at("f-source"), from = at("f-from"), to = at("f-to"), brush = at("brush"), density = at("density");
  function ms(step) { return step / steps * length; }
  function clock(offset) {
    var text = new Date(start + offset).toISOString();
    return length > 86400000 ? text.slice(5, 19).replace("T", " ") : text.slice(11, 23);
  }
  function words(row) {
    if (row.text === null) {
      row.text = Array.prototype.slice.call(row.row.cells, 0, 4).map(function (cell) { return cell.textContent; }).join(" ").toLowerCase();
    }
    return row.text;
  }
  function is(row, kind) {
    if (kind === "marks") return row.mark !== "";
    if (kind === "serious") return row.level === "warn" || row.level === "error" || row.level === "fatal" || row.mark === "failure";
    if (kind === "unknown") return words(row).indexOf("order unknown") >= 0;
    return true;
  }
  function apply() {
    var low = ms(Number(from.value)), high = ms(Number(to.value)), whole = from.value === "0" && to.value === String(steps);
    var wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    rows.forEach(function (row) {
      var keep = is(row, what.value) && (source.value === "" || row.source === source.value);
      if (keep && !whole) keep = row.from !== null && row.to >= low && row.from <= high;
      if (keep && wanted.length) keep = wanted.every(function (word) { return words(row).indexOf(word) >= 0; });
      row.row.hidden = !keep;
      if (keep) shown += 1;
    });
    at("o-from").value = clock(low);
    at("o-to").value = clock(high);
    at("f-count").value = shown + " of " + rows.length + " rows shown" + (whole ? "" : "; rows without any time are hidden by a zoom");
    if (brush) {
      brush.setAttribute("display", whole ? "none" : "inline");
      brush.setAttribute("x", String(Number(from.value)));
      brush.setAttribute("width", String(Math.max(2, Number(to.value) - Number(from.value))));
    }
  }
  function set(low, high) {
    low = Math.max(0, Math.min(steps - 1, Math.round(low)));
    high = Math.max(low + 1, Math.min(steps, Math.round(high)));
    from.value = String(low);
    to.value = String(high);
    apply();
  }
  function zoom(by) {
    var low = Number(from.value), high = Number(to.value), middle = (low + high) / 2, half = Math.max(1, (high - low) / 2 * by);
    set(middle - half, middle + half);
  }
  from.addEventListener("input", function () { set(Math.min(Number(from.value), Number(to.value) - 1), Number(to.value)); });
  to.addEventListener("input", function () { set(Number(from.value), Math.max(Number(to.value), Number(from.value) + 1)); });
  text.addEventListener("input", apply);
  what.addEventListener("change", apply);
  source.addEventListener("change", apply);
  at("f-in").addEventListener("click", function () { zoom(0.5); });
  at("f-out").addEventListener("click", function () { zoom(2); });
  at("f-reset").addEventListener("click", function () { text.value = ""; what.value = ""; source.value = ""; set(0, steps); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  if (density) {
    var began = null;
    var place = function (event) {
      var box = density.getBoundingClientRect();
      return (event.clientX - box.left) / Math.max(1, box.width) * steps;
    };
    density.addEventListener("pointerdown", function (event) { began = place(event); density.setPointerCapture(event.pointerId); });
    density.addEventListener("pointermove", function (event) {
      if (began !== null) set(Math.min(began, place(event)), Math.max(began, place(event)));
    });
    density.addEventListener("pointerup", function (event) {
      if (began !== null && Math.abs(place(event) - began) < 2) set(0, steps);
      began = null;
    });
  }
  form.hidden = false;
  document.documentElement.className = "scripted";
  set(0, steps);
})();
