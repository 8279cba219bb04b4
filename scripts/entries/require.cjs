"use strict";

const entry = process.argv[2];
const loaded = require(entry);
import("./use.mjs").then(({ use }) => use(entry, loaded));
