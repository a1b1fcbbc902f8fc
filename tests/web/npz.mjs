// SPDX-License-Identifier: MIT
// The least of NumPy's .npz that a test needs: stored arrays of doubles and 64-bit integers.

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; ++i) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function npy(values, shape) {
  const type = values instanceof BigInt64Array ? "<i8" : "<f8";
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const head = text.padEnd(117) + "\n";
  const size = Buffer.from([head.length & 255, head.length >> 8]);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), size, Buffer.from(head),
                        Buffer.from(values.buffer)]);
}

/** The bytes of an archive of {name: [values, shape]}. */
export function npz(arrays) {
  const files = [], entries = [];
  let offset = 0;
  for (const [name, [values, shape]] of Object.entries(arrays)) {
    const data = npy(values, shape);
    const file = Buffer.from(`${name}.npy`);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(file.length, 22);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02", "latin1");
    entry.writeUInt16LE(20, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    files.push(Buffer.from("PK\x03\x04", "latin1"), common, file, data);
    entries.push(entry, file);
    offset += 30 + file.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length / 2, 8);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, directory, end]);
}
