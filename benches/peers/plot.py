"""Growth as a picture: seconds over gigabytes, both by powers of ten, one panel a question. SVG without a library."""
import html
import math
import statistics

COLOURS = ["#d62728", "#ff9896", "#8c564b", "#1f77b4", "#2ca02c", "#9467bd", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#aec7e8", "#98df8a", "#c49c94"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 220, 55, 40, 70


def growth(rows, questions, titles):
    """`rows` as benches/peers/run writes them; wrong answers are left out."""
    rows = [r for r in rows if r["wrong"] is None and r["wall"] and r["question"] in questions]
    tools = list(dict.fromkeys(r["tool"] for r in rows))
    colour = {tool: COLOURS[i % len(COLOURS)] for i, tool in enumerate(tools)}
    columns = 3
    panels = math.ceil(len(questions) / columns)
    width = columns * (WIDTH + GAP) + 20
    height = panels * (HEIGHT + TOP + 40) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for i, question in enumerate(questions):
        x, y = LEFT + i % columns * (WIDTH + GAP), TOP + i // columns * (HEIGHT + TOP + 40)
        out += panel([r for r in rows if r["question"] == question], titles[question], colour, x, y)
    x, y = LEFT + len(questions) % columns * (WIDTH + GAP), TOP + (panels - 1) * (HEIGHT + TOP + 40)
    for i, tool in enumerate(tools):
        out.append(f'<line x1="{x}" y1="{y + i * 16}" x2="{x + 20}" y2="{y + i * 16}" stroke="{colour[tool]}" stroke-width="2"/>')
        out.append(f'<text x="{x + 26}" y="{y + i * 16 + 4}">{html.escape(tool)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def panel(rows, title, colour, x, y):
    out = [f'<text x="{x}" y="{y - 14}" font-size="12" font-weight="bold">{html.escape(title)}</text>']
    if not rows:
        return out
    points = {}
    for row in rows:
        points.setdefault(row["tool"], []).append((row["gb"], statistics.median(row["wall"])))
    sizes = [gb for of in points.values() for gb, _ in of]
    times = [s for of in points.values() for _, s in of]
    left, right = math.floor(math.log10(min(sizes)) - 1e-9), math.ceil(math.log10(max(sizes)) + 1e-9)
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    across = lambda gb: x + (math.log10(gb) - left) / max(right - left, 1) * WIDTH
    up = lambda s: y + HEIGHT - (math.log10(s) - low) / max(high - low, 1) * HEIGHT
    for power in range(low, high + 1):
        at = up(10.0**power)
        label = f"{10.0**power:g} s" if power >= 0 else f"{10.0 ** (power + 3):g} ms"
        out.append(f'<line x1="{x}" y1="{at:.1f}" x2="{x + WIDTH}" y2="{at:.1f}" stroke="#ddd"/><text x="{x - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    for power in range(left, right + 1):
        at = across(10.0**power)
        out.append(f'<line x1="{at:.1f}" y1="{y}" x2="{at:.1f}" y2="{y + HEIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{at:.1f}" y="{y + HEIGHT + 16}" text-anchor="middle">{10.0**power:g} GB</text>')
    for tool, of in points.items():
        of.sort()
        path = " ".join(f"{across(gb):.1f},{up(s):.1f}" for gb, s in of)
        heavy = 2.5 if tool.startswith("corr") else 1.3
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour[tool]}" stroke-width="{heavy}"/>')
        out += [f'<circle cx="{across(gb):.1f}" cy="{up(s):.1f}" r="2.5" fill="{colour[tool]}"><title>{html.escape(tool)}: {s:.4g} s</title></circle>' for gb, s in of]
    return out
