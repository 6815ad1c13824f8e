// What the transposes in place share. A matrix is n x n, its rows lie ld elements apart, and the matrices of a batch follow each other. A
// block takes a tile on or above the diagonal and its mirror image, and puts each in the other's place.
struct pair {
    int64 matrix, top, left; // of the tile above: left >= top
};

// Tiles of a matrix, along a side. Row r has t - r tiles from the diagonal on, and row t - r has r of them (t odd; if it is even, row
// t - 1 - r has r + 1): together they are as wide for any r, so blocks are numbered along such double rows.
DEVICE struct pair pair_of(uint32 block, uint32 t, int tile)
{
    uint32 wide = t | 1, even = 1 - t % 2, pairs = (t + 1) / 2 * wide;
    uint32 row = block % pairs / wide, column = block % pairs % wide;
    struct pair p;
    p.matrix = block / pairs;
    if (column >= row + even) {
        p.top = (int64)row * tile;
        p.left = (int64)(column - even) * tile;
    } else {
        p.top = (int64)(t - row - even) * tile;
        p.left = (int64)(t - 1 - column) * tile;
    }
    return p;
}
