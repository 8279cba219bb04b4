// Says where in a value something is: `$.rows[3].id`, `$["odd key"]`.
const MAX_KEY_LENGTH = 64;
const MAX_PLACE_LENGTH = 200;
/** `keys` from the inside out; only as many as fit are asked for. */
export function placeOf(keys) {
    let place = "";
    for (const key of keys) {
        if (place.length > MAX_PLACE_LENGTH)
            return `$…${place}`;
        place = step(key) + place;
    }
    return `$${place}`;
}
function step(key) {
    if (typeof key === "number")
        return `[${key}]`;
    if (key.length > MAX_KEY_LENGTH)
        return `[${JSON.stringify(key.slice(0, MAX_KEY_LENGTH))}…]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
