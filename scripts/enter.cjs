"use strict";

const { pathToFileURL } = require("node:url");

module.exports = async function enter(file) {
  try {
    const { main } = await import(pathToFileURL(file));
    process.exitCode = await main(process.argv.slice(3));
  } catch (error) {
    // A `Stop` is meant for people: its message is the whole story.
    console.error(error?.name === "Stop" ? error.message : error);
    process.exitCode = 1;
  }
};
