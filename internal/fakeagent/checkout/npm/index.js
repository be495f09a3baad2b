export const data = new URL("./data/", import.meta.url);
