// What every Persistent Dir does, over localDir. The cases are in support/persistent/conformance/.
import { conformance } from "./support/persistent/conformance.mjs";
import { newStore } from "./support/persistent/stores.mjs";

conformance("localDir", newStore("local"));
