-- The same program, once it knew places of profile photos.
ALTER TABLE profiles ADD COLUMN place TEXT;
