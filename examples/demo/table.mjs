export function table(title, head, rows) {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const isNumber = head.map((_, column) => rows.every((row) => /^[\d,]+$/.test(row[column])));
  console.log(`\n${title}\n`);
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      isNumber[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
    );
    console.log(`  ${cells.join("  ").trimEnd()}`);
  }
}
