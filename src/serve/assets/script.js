"use strict";
// Pages work without this. It swaps in what changes of a page, and lets a part of the time be drawn over.
(function () {
  var running = null, shown = location.pathname + location.search;
  history.scrollRestoration = "manual";

  function ours(link) {
    return link.origin === location.origin && (link.pathname === "/" || link.pathname === "/show");
  }

  // Values of fields that are empty say nothing: they stay out of the address.
  function address(form) {
    var said = new URLSearchParams();
    new FormData(form).forEach(function (value, name) {
      if (String(value).trim() !== "") said.set(name, String(value).trim());
    });
    var text = said.toString();
    return "/" + (text === "" ? "" : "?" + text);
  }

  function keep() {
    history.replaceState({ y: window.scrollY }, "");
  }

  function swap(text, y) {
    var page = new DOMParser().parseFromString(text, "text/html");
    ["header", "main", "footer"].forEach(function (name) {
      var here = document.querySelector("body > " + name), there = page.querySelector("body > " + name);
      if (here && there) here.replaceWith(document.importNode(there, true));
      else if (here) here.remove();
      else if (there) document.body.append(document.importNode(there, true));
    });
    document.title = page.title;
    window.scrollTo(0, y);
    ready();
  }

  // Shows the page of an address; `push` is how the history is told.
  function go(url, push, y) {
    if (running) running.abort();
    var mine = new AbortController();
    running = mine;
    document.documentElement.setAttribute("aria-busy", "true");
    fetch(url, { signal: mine.signal, credentials: "omit" }).then(function (answer) {
      if (!String(answer.headers.get("content-type")).startsWith("text/html")) throw new Error("no page");
      return answer.text();
    }).then(function (text) {
      if (push) {
        keep();
        history.pushState({ y: y }, "", url);
      }
      shown = location.pathname + location.search;
      swap(text, y);
      var hash = new URL(url, location.href).hash;
      var at = hash === "" ? null : document.getElementById(decodeURIComponent(hash.slice(1)));
      if (at) at.scrollIntoView();
    }).catch(function (error) {
      // The browser says better what is wrong with the network.
      if (error.name !== "AbortError") location.assign(url);
    }).finally(function () {
      if (running === mine) {
        running = null;
        document.documentElement.removeAttribute("aria-busy");
      }
    });
  }

  document.addEventListener("click", function (event) {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    var link = event.target.closest ? event.target.closest("a[href]") : null;
    if (!link) return;
    var to = new URL(link.getAttribute("href"), location.href);
    if (!ours(to) || (to.hash !== "" && to.pathname === location.pathname && to.search === location.search)) return;
    event.preventDefault();
    go(to.href, true, to.pathname === location.pathname ? window.scrollY : 0);
  });

  document.addEventListener("submit", function (event) {
    if (event.target.id !== "search") return;
    event.preventDefault();
    go(address(event.target), true, 0);
  });

  window.addEventListener("popstate", function (event) {
    // Another place of the same page.
    if (location.pathname + location.search === shown) return;
    go(location.href, false, event.state && event.state.y ? event.state.y : 0);
  });

  window.addEventListener("scrollend", keep);

  // A part of the time, drawn over with a pointer: what is let go of is looked at.
  function brush(picture) {
    var from = Number(picture.dataset.from), until = Number(picture.dataset.until), began = null, drawn = null;
    function share(event) {
      var box = picture.getBoundingClientRect();
      return Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)));
    }
    function draw(low, high) {
      if (!drawn) {
        var old = picture.querySelector(".window");
        if (old) old.remove();
        drawn = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        drawn.setAttribute("class", "window");
        drawn.setAttribute("y", "0");
        drawn.setAttribute("height", String(picture.viewBox.baseVal.height));
        picture.append(drawn);
      }
      drawn.setAttribute("x", String(low * picture.viewBox.baseVal.width));
      drawn.setAttribute("width", String((high - low) * picture.viewBox.baseVal.width));
    }
    picture.addEventListener("pointerdown", function (event) {
      if (event.button === 0) began = share(event);
    });
    picture.addEventListener("pointermove", function (event) {
      if (began === null) return;
      var at = share(event);
      // A click on a column is no drawing over.
      if (!drawn && Math.abs(at - began) * picture.getBoundingClientRect().width < 4) return;
      if (!drawn) picture.setPointerCapture(event.pointerId);
      draw(Math.min(began, at), Math.max(began, at));
    });
    picture.addEventListener("pointerup", function (event) {
      if (began === null) return;
      var ends = [began, share(event)].sort(function (a, b) { return a - b; });
      var over = drawn !== null;
      began = null;
      drawn = null;
      if (over) look(Math.floor(from + ends[0] * (until - from)), Math.ceil(from + ends[1] * (until - from)));
    });
    picture.addEventListener("dragstart", function (event) { event.preventDefault(); });
  }

  function look(since, until) {
    var said = new URLSearchParams(location.pathname === "/" ? location.search : "");
    ["window", "around", "span"].forEach(function (name) { said.delete(name); });
    said.set("since", new Date(since).toISOString());
    said.set("until", new Date(Math.max(until, since + 1)).toISOString());
    go("/?" + said.toString(), true, window.scrollY);
  }

  function ready() {
    var picture = document.getElementById("brush-picture");
    if (picture) brush(picture);
  }

  document.documentElement.classList.add("live");
  ready();
})();
